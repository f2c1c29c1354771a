import { test } from "vitest";
import { REGISTRATION_TRANSITIONS } from "../../adapters/telephony/sip/registration/registration-states.ts";
import { stateDiagram } from "../../src/base/machine.ts";
import { CALL_TRANSITIONS } from "../../src/domain/call.ts";
import { INSTANCE_TRANSITIONS } from "../../src/domain/instance.ts";
import { STREAM_TRANSITIONS } from "../../src/domain/stream-flow.ts";
import { expectPage } from "./generated.ts";

const page = `# State machines

Printed from the tables in the code by \`test/docs/states.test.ts\`; run it with \`UPDATE_DOCS=1\` after a change.

## Call

\`\`\`mermaid
${stateDiagram(CALL_TRANSITIONS, "QUEUED")}\`\`\`

\`place\`: the far side has been asked. \`connect\`: it has accepted and our first frame is on its way. \`complete\`, \`fail\`: see
the reasons in \`src/domain/outcome.ts\`. A \`QUEUED\` call is dialled when the beginning of its message is ready; if that takes longer than
15 s once its turn has come (\`messagePreparationMs\`), it fails with \`speech_failed\` and nobody's phone has rung
([decision 22](decisions/0022-prepared-message.md)).

A \`QUEUED\` call whose line is offline waits for it, up to \`queueTimeoutMs\`. If the line's fault will not pass until somebody mends it (a wrong password, an
untrusted certificate, a name that does not exist), the call fails at once as \`instance_offline\`, whether it waited before or is new; \`detail\` is the cause.

## Instance

\`\`\`mermaid
${stateDiagram(INSTANCE_TRANSITIONS, "CREATED")}\`\`\`

\`link\`: the QR code was scanned. \`activate\`: a probe found the line online. \`deactivate\`: it was offline longer than the
grace. \`unlink\`: the phone's owner removed the device; state and credentials go together. \`delete\`: somebody asked for it. From
then on the instance reads as not found; its calls are ended, its device is unlinked, its credentials are erased, and its line is
closed, whatever happens in between ([decision 18](decisions/0018-deletion-is-an-intent.md)).

## SIP registration

\`\`\`mermaid
${stateDiagram(REGISTRATION_TRANSITIONS, "idle")}\`\`\`

\`suspect\`: the connection is gone, or a call did not reach the server. \`refused\` is tried again after ten minutes, \`waiting\` after
seconds. In \`refused\` calls fail at once as \`instance_offline\`; in \`waiting\` they wait. In \`registered\`, \`refreshing\` and \`shaky\` the line is online.

## Live stream

\`\`\`mermaid
${stateDiagram(STREAM_TRANSITIONS, "detached")}\`\`\`

\`attach\`: a client with a reservation is there. \`lose\`: the client disconnected, or was dropped because it sent too much; the call waits
\`streamAttachMs\` for the next client. \`hang_up\`: the client asked for the end of the call. \`leave\`: it did, and disconnected. While the stream
is draining, the audio that the client had sent is played to its end. \`end\`: the call is over, or the server stops.
`;

test("docs/states.md prints the state tables", () => expectPage("docs/states.md", page));
