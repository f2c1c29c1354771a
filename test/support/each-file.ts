import { afterAll } from "vitest";
import { endFile } from "./file-end.ts";

// vitest runs this again for each test file.
afterAll(endFile);
