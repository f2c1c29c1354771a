// Measures in the runtime that runs this file. Arguments: the URL of a module with a `measure`, and its options as JSON.
import process from "node:process";
import type { Measure } from "./programs.ts";

const [module = "", options = "{}"] = process.argv.slice(2);
const { measure } = (await import(module)) as { measure: Measure };
console.log(JSON.stringify(await measure(JSON.parse(options))));
process.exit(0);
