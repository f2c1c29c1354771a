import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { absoluteLinks } from "./absolute-links.ts";

// for-registries.ts VERSION: makes the pages that npm and JSR show. Their links lead to the repository that package.json names.

const [version] = process.argv.slice(2);
const { repository } = JSON.parse(readFileSync("package.json", "utf8"));
const web = String(repository.url)
  .replace(/^git\+/, "")
  .replace(/\.git$/, "");
for (const page of readdirSync(".").filter((name) => /^(README|CHANGELOG).*\.md$/.test(name)))
  writeFileSync(page, absoluteLinks(readFileSync(page, "utf8"), `${web}/blob/v${version}`));
