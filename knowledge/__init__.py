"""What is known of the relations of provisions: triplets, their graph as numbers, and its walks."""
