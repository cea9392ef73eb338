"""LoRA adapters for domain questions and for instructions, merged into one model of text."""
