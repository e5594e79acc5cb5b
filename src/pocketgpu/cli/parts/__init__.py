"""What commands share: options, outcomes, words for terminals, files."""
