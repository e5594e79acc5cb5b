"""What commands share: options, outcomes, terminal output, files."""
