"""What each request does. A handler takes the session and the arguments, and gives the body of the response."""
