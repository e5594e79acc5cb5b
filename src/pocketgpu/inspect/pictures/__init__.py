"""Pictures compared, and what a comparison found, as data and as a page."""
