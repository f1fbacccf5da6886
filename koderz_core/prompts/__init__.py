"""What models are told, with a version each, and how programs are found in what they answer."""
