// `node .ci/typecheck.ts [FOLDER…]`: checks the types of each folder, which has a tsconfig.json; by default, of all
// folders whose packages are installed. The state under .cache makes the next check several times as fast.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { resolve } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { Diagnostic, SourceFile } from "typescript";

/** Folders by process; those of one process share the parsed libraries. */
const PROCESSES = [["."], ["adapters/console/app", "test/console/app"]];
/** Folders with their own packages, which their tiers install. */
const TIERS = ["test/console/browser", "test/package", "test/peers"];
/**
 * The compiler retains nearly everything it allocates: with a larger young generation, objects are copied less often.
 */
const NODE_OPTIONS = ["--max-semi-space-size=64"];

const folders = process.argv.slice(2);
const passed = await (folders.length > 0 ? checkAll(folders) : checkInProcesses());
process.exitCode = passed ? 0 : 1;

async function checkInProcesses(): Promise<boolean> {
  const tiers = TIERS.filter((folder) => existsSync(`${folder}/node_modules`)).map((folder) => [folder]);
  const script = fileURLToPath(import.meta.url);
  const processes = [...PROCESSES, ...tiers].map((folders) =>
    once(spawn(process.execPath, [...NODE_OPTIONS, script, ...folders], { stdio: "inherit" }), "close"),
  );
  return (await Promise.all(processes)).every(([code]) => code === 0);
}

/** Checks each folder's files. Files imported from elsewhere are checked with the folder they belong to. */
async function checkAll(folders: readonly string[]): Promise<boolean> {
  enableCompileCache();
  const { default: ts } = await import("typescript");
  const parsed = new Map<string, SourceFile | undefined>();
  const format = {
    getCanonicalFileName: String,
    getCurrentDirectory: ts.sys.getCurrentDirectory,
    getNewLine: () => "\n",
  };
  let passed = true;

  for (const folder of folders) {
    const config = ts.getParsedCommandLineOfConfigFile(
      `${folder}/tsconfig.json`,
      { incremental: true, tsBuildInfoFile: resolve(`.cache/types/${folder.replaceAll("/", "-")}.tsbuildinfo`) },
      { ...ts.sys, onUnRecoverableConfigFileDiagnostic: report },
    );
    if (config === undefined) return false;
    const host = ts.createIncrementalCompilerHost(config.options);
    const { getSourceFile } = host;
    host.getSourceFile = (path, ...options) => {
      if (!parsed.has(path)) parsed.set(path, getSourceFile(path, ...options));
      return parsed.get(path);
    };
    const program = ts.createIncrementalProgram({
      rootNames: config.fileNames,
      options: config.options,
      configFileParsingDiagnostics: config.errors,
      host,
    });
    const root = `${resolve(folder)}/`;
    const isForeign = ({ fileName }: SourceFile): boolean => !fileName.startsWith(root);
    program.getConfigFileParsingDiagnostics().forEach(report);
    program.getOptionsDiagnostics().forEach(report);
    program.getSyntacticDiagnostics().forEach(report);
    program.getGlobalDiagnostics().forEach(report);
    while (program.getSemanticDiagnosticsOfNextAffectedFile(undefined, isForeign) !== undefined);
    for (const file of program.getSourceFiles())
      if (!isForeign(file)) program.getSemanticDiagnostics(file).forEach(report);
    // Writes the state.
    program.emit();
  }
  return passed;

  function report(diagnostic: Diagnostic): void {
    process.stdout.write(ts.formatDiagnosticsWithColorAndContext([diagnostic], format));
    passed = false;
  }
}
