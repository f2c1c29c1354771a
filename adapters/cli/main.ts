#!/usr/bin/env node
import process from "node:process";
import { keepCompiledCode } from "./compile-cache.ts";

keepCompiledCode();
const { run } = await import("./run.ts"); // only now, so that it is found there
process.exit(await run(process.argv.slice(2)));
