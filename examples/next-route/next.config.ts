// Ringport opens files and starts workers of its own: Next must leave it where npm has put it.
export default { serverExternalPackages: ["ringport"] };
