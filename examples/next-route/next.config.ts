// Ringport opens files and starts workers, so Next must not bundle it.
export default { serverExternalPackages: ["ringport"] };
