// Imports the modules named on the command line, and prints the names that each exports.
const names: Record<string, string[]> = {};
for (const specifier of process.argv.slice(2)) names[specifier] = Object.keys(await import(specifier)).sort();
console.log(JSON.stringify(names));
