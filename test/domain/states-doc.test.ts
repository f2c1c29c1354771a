import { readFile, writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { CALL_TRANSITIONS } from "../../src/domain/call.ts";
import { INSTANCE_TRANSITIONS } from "../../src/domain/instance.ts";
import { stateDiagram } from "../../src/domain/machine.ts";

const file = new URL("../../docs/states.md", import.meta.url);

const page = `# State machines

Printed from the tables in \`src/domain\` by \`test/domain/states-doc.test.ts\`; run it with \`UPDATE_DOCS=1\` after a change.

## Call

\`\`\`mermaid
${stateDiagram(CALL_TRANSITIONS, "QUEUED")}\`\`\`

\`place\`: the far side has been asked. \`connect\`: it has accepted and our first frame is on its way. \`complete\`, \`fail\`: see
the reasons in \`src/domain/outcome.ts\`.

## Instance

\`\`\`mermaid
${stateDiagram(INSTANCE_TRANSITIONS, "CREATED")}\`\`\`

\`link\`: the QR code was scanned. \`activate\`: a probe found the line online. \`deactivate\`: it was offline longer than the
grace. \`unlink\`: the phone's owner removed the device.
`;

test("docs/states.md shows the tables as they are", async () => {
  if (process.env.UPDATE_DOCS) await writeFile(file, page);
  expect(await readFile(file, "utf8")).toBe(page);
});
