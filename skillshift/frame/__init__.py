"""What both packages share: metrics, contracts, reading, exact arithmetic. It knows neither domain."""
