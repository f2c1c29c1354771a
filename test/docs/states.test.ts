import { test } from "vitest";
import { REGISTRATION_TRANSITIONS } from "../../adapters/telephony/sip/registration/registration-states.ts";
import { CALL_MOVES } from "../../adapters/telephony/whatsapp/calls/call-states.ts";
import { stateDiagram } from "../../src/base/state-machine.ts";
import { AGENT_TURN_TRANSITIONS } from "../../src/domain/agents/agent-turn.ts";
import { BATCH_TRANSITIONS, TARGET_TRANSITIONS } from "../../src/domain/batches/batch.ts";
import { CALL_TRANSITIONS } from "../../src/domain/calls/call.ts";
import { PHASE_TRANSITIONS } from "../../src/domain/calls/call-flow.ts";
import { STREAM_TRANSITIONS } from "../../src/domain/calls/live-stream-flow.ts";
import { BLOCKED_REASONS } from "../../src/domain/dialling-rules/number-protection.ts";
import { INSTANCE_TRANSITIONS } from "../../src/domain/instances/instance.ts";
import { LINE_TRANSITIONS } from "../../src/domain/instances/line-flow.ts";
import { QUEUE_TRANSITIONS } from "../../src/domain/instances/queue-flow.ts";
import { SERVER_TRANSITIONS } from "../../src/domain/server-flow.ts";
import { ENDPOINT_TRANSITIONS } from "../../src/domain/webhooks/endpoint-flow.ts";
import { expectPage } from "./generated.ts";

const page = `# State machines

Printed from the tables in the code by \`test/docs/states.test.ts\`; run it with \`UPDATE_DOCS=1\` after a change.

## Call

\`\`\`mermaid
${stateDiagram(CALL_TRANSITIONS, "QUEUED")}\`\`\`

\`place\`: the network has been asked to place the call. \`connect\`: the callee has accepted, and our first frame is on its way.
\`complete\`, \`fail\`: the [reasons](errors.md#why-a-call-ended) are in \`src/domain/calls/outcome.ts\`. A \`QUEUED\` call is dialled when the beginning of its message is ready; if that takes longer than
15 s once its turn has come (\`messagePreparationMs\`), it fails with \`speech_failed\` before any phone rings
([decision 22](decisions/0022-prepared-message.md)).

A \`QUEUED\` call whose line is offline waits for the line, up to \`queueTimeoutMs\`. A server that was suspended for longer (a stopped
process, a suspended machine, or a clock that was set ahead, which looks the same) does not dial the calls that were waiting
either: they end as \`instance_offline\`. If only a person can fix the line (a wrong password, an
untrusted certificate, a name that does not exist), new and waiting calls fail at once as \`instance_offline\`, with the cause in \`detail\`.

Before its message is prepared and again before the network is asked, [number protection](number-protection.md) may fail a \`QUEUED\` call
(${BLOCKED_REASONS.map((reason) => `\`${reason}\``).join(", ")}) or make it wait.

## Live call

A call that has been claimed is live: a call session carries it. These are its phases, from \`src/domain/calls/call-flow.ts\`.

\`\`\`mermaid
${stateDiagram(PHASE_TRANSITIONS, "dialing")}\`\`\`

\`answer\`: the callee has accepted, and the audio path is being set up. \`connect\`: the audio path is up; it may come without \`answer\`.
\`requeue\`: the line was lost before the network was asked, or the network temporarily refused the call without ringing a phone, so the call returns to the queue.

## Instance

\`\`\`mermaid
${stateDiagram(INSTANCE_TRANSITIONS, "CREATED")}\`\`\`

\`link\`: the QR code was scanned. \`activate\`: a probe found the line online. \`deactivate\`: the line was offline for longer than the
grace (\`lineGraceMs\`, 30 s), or has a fault that only a person can fix. \`unlink\`: the phone's owner removed the device, or a user
unlinked the number: the network is asked first, within \`unlinkMs\`, and a crash before that leaves the instance linked. \`delete\`: a user requested the deletion. From
then on reads return 404. Ringport ends the instance's calls, unlinks its device, erases its credentials and closes its line, even after a
crash ([decision 18](decisions/0018-deletion-is-an-intent.md)).

## Line

The connection of an instance, as shown by \`connection.state\`, from \`src/domain/instances/line-flow.ts\`.

\`\`\`mermaid
${stateDiagram(LINE_TRANSITIONS, "unlinked")}\`\`\`

\`link\`: the linking has started. \`connect\`: a number is linked, or its credentials are stored. \`confirm\`: a probe found the line online,
and the instance is stored as \`ACTIVE\`. \`lose\`: the network reported the line as offline, or a probe found it offline. \`give_up\`: the line was
offline for longer than the grace, has a fault that only a person can fix, or could not be opened. A line that has a number when the server starts begins in \`connecting\`.

## Queue of an instance

How the dispatcher starts the calls of one instance, from \`src/domain/instances/queue-flow.ts\`.

\`\`\`mermaid
${stateDiagram(QUEUE_TRANSITIONS, "idle")}\`\`\`

\`starting\`: the next call is looked up and, once its message is ready, claimed and dialled. \`preparing\`: its message is not ready.
\`waiting\`: the pace or the protection of the number delays it. \`busy\`: a call is live. \`checking\`: in addition, the queue looks for a claim that
the database has not confirmed, and returns that call to the queue. \`wake\`: a call was created, the line came online, or a message is ready;
during a search, another one follows. \`release\`: the wait has ended, or the line is down. An instance with
several [lines](sip.md#several-calls-at-once) has such a queue for each; one of them looks for a call at a time, and the next one as soon as that is \`preparing\` or \`busy\`.

## Batch

One message for many callees, from \`src/domain/batches/batch.ts\` ([page](batches.md)). A batch begins as a \`DRAFT\`, which takes targets.

\`\`\`mermaid
${stateDiagram(BATCH_TRANSITIONS, "DRAFT")}\`\`\`

\`schedule\`: it was started before its start time. \`begin\`: it places calls from now on. \`pause\`: a user requested it, or too many of its last calls failed
for the same reason; live calls continue. \`complete\`: no target waits, and none has a live call. \`cancel\`: waiting targets end as \`CANCELLED\`; live calls
finish, or end as \`terminated\`.

## Target of a batch

One callee, from \`src/domain/batches/batch.ts\`. A target is stored as \`WAITING\`, as \`INVALID\` if it has faults, or as \`DUPLICATE\` if an earlier one has its number.

\`\`\`mermaid
${stateDiagram(TARGET_TRANSITIONS, "WAITING")}\`\`\`

\`correct\`, \`repeat\`: a user changed it in a draft. \`call\`: it and its call are stored in one transaction. \`retry\`: its call has ended, and the
rules for retries allow another one. \`return\`: its call ended before the number was dialled, which does not count as an attempt. \`complete\`, \`fail\`: its last
call completed or failed. \`expire\`: the batch ended before its turn. \`cancel\`: the batch was cancelled.

## SIP registration

\`\`\`mermaid
${stateDiagram(REGISTRATION_TRANSITIONS, "idle")}\`\`\`

\`suspect\`: the connection is lost, or a call did not reach the server. In \`refused\` the next attempt follows after ten minutes, in \`waiting\` after
seconds. Calls fail at once as \`instance_offline\` in \`refused\`, and wait in \`waiting\`. The line is online in \`registered\`, \`refreshing\` and \`shaky\`.

## Call over WhatsApp

\`\`\`mermaid
${stateDiagram(CALL_MOVES, "offered")}\`\`\`

\`ring\`: WhatsApp has acknowledged the offer, or a device of the callee has responded. \`accept\`: a device has accepted. \`connect\`: the client reports the call as
active. \`drain\`: we hang up, and the callee still hears the audio that the client has buffered. \`end\`: the client is asked to end the call, and has 4 s for it. \`leave\`: WhatsApp
has ended the call, and the client notices within a second. The limits are in \`adapters/telephony/whatsapp/calls/whatsapp-call-flow.ts\`.

## Live stream

\`\`\`mermaid
${stateDiagram(STREAM_TRANSITIONS, "detached")}\`\`\`

\`attach\`: a client connects to the stream that it has reserved. \`lose\`: the client disconnected, or was dropped for sending too much; the call waits
\`streamAttachMs\` for the next client. \`hang_up\`: the client asked for the end of the call. \`leave\`: the client asked for the end and disconnected. While the
stream is draining, the audio that the client has sent is played to its end. \`end\`: the call has ended, or the server stops.

## Agent's turn

The turn of the agent of a call, of either kind, from \`src/domain/agents/agent-turn.ts\`.

\`\`\`mermaid
${stateDiagram(AGENT_TURN_TRANSITIONS, "open")}\`\`\`

\`hold\`: the callee makes a sound and may be interrupting, so the agent pauses. \`release\`: it was not an interruption; the agent says the rest.
\`interrupt\`: the callee said words or pressed a key; the rest is dropped. \`replace\`: the agent itself begins another reply. \`transfer\`, \`end\`: the agent transfers the
call or ends it, once its last words have been heard. \`greet\`: a machine has answered, and the agent is silent until the machine records (\`record\`).

## Endpoint of a webhook

Deliveries of one webhook, from \`src/domain/webhooks/endpoint-flow.ts\`. The attempts of one delivery are in [webhooks](webhooks.md).

\`\`\`mermaid
${stateDiagram(ENDPOINT_TRANSITIONS, "idle")}\`\`\`

\`wake\`: an event was stored, or a delivery is due. A round stores a delivery for each new event and attempts what is due; in \`woken\` another one
follows. \`postpone\`: the storage failed, or the server must not send at the moment; the next round begins after a second. \`disable\`: the user, a 410 or
days of failures disabled the webhook; in \`pausing\` the current round ends. \`stop\`: the webhook was deleted, or the server stops.

## Server

The life cycle of a server, from \`src/domain/server-flow.ts\`; \`src/lifecycle.ts\` carries it out ([decision 21](decisions/0021-one-owner.md)).

\`\`\`mermaid
${stateDiagram(SERVER_TRANSITIONS, "new")}\`\`\`

\`wait\`: another server owns the database. \`own\`: the database is open, and the application runs. \`lose\`: the lease was lost; the application ends,
and under \`onLeaseLost: "restart"\` another one starts on the reopened database, otherwise the server stops. Use cases are refused in \`standby\` and \`lost\`.
In \`stopping\` live calls end, and requests are still served.
`;

test("docs/states.md prints the state tables", () => expectPage("docs/states.md", page));
