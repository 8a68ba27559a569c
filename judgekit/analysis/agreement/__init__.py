"""What judges say beside what people say."""
