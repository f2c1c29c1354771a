import type { AudioAgent } from "../ports/audio-conversation.ts";
import type { PcmChunk } from "../ports/media.ts";
import { beginningsContract } from "./audio-agent-contract/beginnings.ts";
import { agentEndingsContract } from "./audio-agent-contract/endings.ts";
import { turnsContract } from "./audio-agent-contract/turns.ts";
import { clausesOf } from "./contract-clause.ts";
import type { ContractRunner } from "./contract-runner.ts";

/** The agent under test, new for each test. */
export interface AudioAgentUnderTest {
  readonly agent: AudioAgent;
  /** Instructions with which the agent speaks first, then waits for the callee. */
  readonly instructions: readonly string[];
  /** The callee's words in reply to that, after which the agent speaks again and hangs up. */
  readonly answer: PcmChunk;
  /** Creates an agent with a wrong key or model, which cannot open conversations. Omit it if this is impossible. */
  refused?(): AudioAgent;
  /** Makes its backend permanently unreachable. Omit it if it has none. */
  cutOff?(): Promise<void>;
  /** Called after the agent has been closed. */
  close(): Promise<void>;
}

/** Registers one clause of the contract with its test. */
export type AudioAgentClause = (title: string, body: (subject: AudioAgentUnderTest) => Promise<void>) => void;

/**
 * The contract of audio agents as tests, which answer, speak, interrupt and listen as the core does.
 * @param name title of the group of tests
 * @param factory makes an agent; called once per test
 *
 * @example
 * import { describe, expect, test } from "vitest";
 * audioAgentContract("my agent", () => freshAgent(), { describe, test, expect });
 */
export function audioAgentContract(
  name: string,
  factory: () => Promise<AudioAgentUnderTest>,
  { describe, test, expect }: ContractRunner,
): void {
  const clause = clausesOf(test, factory, ({ agent }) => agent);

  describe(`${name} fulfils the contract of audio agents`, () => {
    describe("beginnings", () => beginningsContract(clause, expect));
    describe("turns", () => turnsContract(clause, expect));
    describe("endings", () => agentEndingsContract(clause, expect));
  });
}
