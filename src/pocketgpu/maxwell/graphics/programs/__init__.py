"""Programs of the stages of a draw: headers, set-up, and running one warp."""
