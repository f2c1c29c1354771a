import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, parse } from "node:path";

/** A third-party package. */
export interface ThirdParty {
  readonly name: string;
  readonly version: string;
  /** SPDX. */
  readonly licence: string;
  /** Licence and notice files, in full. */
  readonly texts: readonly string[];
  readonly author: string;
  /** Packages required at run time. */
  readonly dependencies: readonly string[];
  readonly folder: string;
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly author?: string | { readonly name?: string };
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

const LEGAL = /^(licen[sc]e(-[\w.-]+?)?|copying|notice)(\.(md|txt))?$/i;

/** Third-party code inside a package, beyond its own licence field. */
const INSIDE: Readonly<Record<string, string>> = {
  "libphonenumber-js":
    "Contains the numbering plans of Google's libphonenumber: Apache-2.0, https://github.com/google/libphonenumber.",
  "sherpa-onnx": "Contains eSpeak NG: GPL-3.0, https://github.com/espeak-ng/espeak-ng.",
  "sherpa-onnx-node": "Contains eSpeak NG: GPL-3.0, https://github.com/espeak-ng/espeak-ng.",
  "mpg123-decoder":
    "Contains libmpg123, compiled to WebAssembly: LGPL-2.1, https://www.mpg123.de. It is installed beside Ringport as a separate package and can be replaced there.",
};

/** Optional packages that only the tests of speech models install, in a separate folder. */
const UNINSTALLED: ReadonlyMap<string, (range: string) => ThirdParty> = new Map(
  ["sherpa-onnx", "sherpa-onnx-node"].map((name) => [
    name,
    (range) => ({
      name,
      version: range,
      licence: "Apache-2.0",
      texts: [],
      author: "The next-gen Kaldi team",
      dependencies: [],
      folder: "",
    }),
  ]),
);

/** The named packages and all their dependencies, each once, sorted by name. */
function withDependencies(root: string, names: readonly string[]): ThirdParty[] {
  const packages = new Map<string, ThirdParty>();
  const visit = (name: string, from: string): void => {
    const dependency = thirdParty(name, from);
    const key = `${dependency.name}@${dependency.version}`;
    if (packages.has(key)) return;
    packages.set(key, dependency);
    for (const next of dependency.dependencies) visit(next, dependency.folder);
  };
  for (const name of names) visit(name, root);
  return [...packages.values()].sort((a, b) => a.name.localeCompare(b.name, "en"));
}

/** The dependencies of the package in this folder, by kind. */
export function dependenciesOf(root: string): { readonly required: ThirdParty[]; readonly optional: ThirdParty[] } {
  const { dependencies = {}, peerDependencies = {} } = manifest(root);
  const required = withDependencies(root, Object.keys(dependencies));
  const optional = Object.entries(peerDependencies).map(
    ([name, range]) => UNINSTALLED.get(name)?.(range) ?? thirdParty(name, root),
  );
  return { required: required, optional };
}

/** The text of third-party-notices.txt. @param bundled names of the packages bundled into the published files */
export function thirdPartyNotices(root: string, bundled: readonly string[]): string {
  const { required: needed, optional } = dependenciesOf(root);
  const direct = (names: readonly string[]) => names.map((name) => thirdParty(name, root));
  const parts = [
    "Third-party notices of Ringport",
    ...chapter("Parts of these packages are included in this one", direct(bundled), true),
    ...chapter("These packages are installed with this one", needed, true),
    ...chapter(
      "These packages work with this one if you install them; none of their code is included",
      optional,
      false,
    ),
  ];
  return `${parts.join("\n\n")}\n`;
}

function chapter(title: string, packages: readonly ThirdParty[], inFull: boolean): string[] {
  const rule = "=".repeat(title.length);
  return [`${title}\n${rule}`, ...packages.map((each) => notice(each, inFull))];
}

function notice({ name, version, licence, author, texts }: ThirdParty, inFull: boolean): string {
  const authorSuffix = author === "" ? "" : `, by ${author}`;
  const head = [`${name} ${version}: ${licence}${authorSuffix}`, ...(INSIDE[name] ? [INSIDE[name]] : [])].join("\n");
  return [head, ...(inFull ? texts : [])].join("\n\n");
}

function thirdParty(name: string, from: string): ThirdParty {
  const folder = installed(name, from);
  const { version, license, author, dependencies = {} } = manifest(folder);
  if (license === undefined)
    throw new Error(`${name} ${version} has no licence field; find out its licence, or replace the package`);
  const legalFiles = readdirSync(folder).filter((file) => LEGAL.test(file));
  return {
    name,
    version,
    licence: license,
    author: (typeof author === "string" ? author : author?.name) ?? "",
    texts: legalFiles.map((file) => readFileSync(join(folder, file), "utf8").trim()),
    dependencies: Object.keys(dependencies),
    folder,
  };
}

/** Folder of a package as Node resolves it from another folder. */
function installed(name: string, from: string): string {
  for (let parent = from; ; parent = dirname(parent)) {
    const folder = join(parent, "node_modules", name);
    if (existsSync(join(folder, "package.json"))) return folder;
    if (parent === parse(parent).root) throw new Error(`${name} is not installed; run npm ci`);
  }
}

function manifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}
