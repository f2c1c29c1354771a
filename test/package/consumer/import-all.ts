// Imports what is named on the command line, and tells the names that each module has.
const names: Record<string, string[]> = {};
for (const specifier of process.argv.slice(2)) names[specifier] = Object.keys(await import(specifier)).sort();
console.log(JSON.stringify(names));
