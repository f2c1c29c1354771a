import process from "node:process";
import { startProvider } from "./provider.ts";

// The provider in a separate process: prints its address, and ends with its standard input.
const provider = await startProvider();
console.log(provider.baseUrl);
process.stdin.resume().on("end", () => process.exit(0));
