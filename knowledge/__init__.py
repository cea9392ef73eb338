"""What is known of the relations of provisions: triplets, the graph of them, and its walks."""
