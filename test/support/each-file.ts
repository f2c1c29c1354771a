import { afterAll } from "vitest";
import { endFile } from "./file-end.ts";

// Node 26 prints a warning when the pages read it.
Reflect.deleteProperty(globalThis, "localStorage");

// vitest runs this again for each test file.
afterAll(endFile);
