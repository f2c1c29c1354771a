import type { OnMachine } from "../../../../../src/domain/answering/answering-machine.ts";
import type { CallType } from "../../../../../src/domain/calls/call.ts";
import type { ChosenAudio } from "./chosen-audio.ts";

/** A variable of an agent, as typed. */
export interface VariableRow {
  readonly name: string;
  readonly value: string;
}

/** The form of a new call: every field as the user left it, also those of the other types. */
export interface CallForm {
  readonly type: CallType;
  readonly instanceId: string;
  /** As typed; see {@link phoneNumberOf}. */
  readonly phoneNumber: string;
  readonly text: string;
  readonly voiceId: string;
  readonly audio: ChosenAudio | undefined;
  /** One instruction a line. */
  readonly instructions: string;
  readonly agentVoiceId: string;
  readonly language: string;
  readonly firstMessage: string;
  /** The agent stays silent until the callee has spoken. */
  readonly calleeSpeaksFirst: boolean;
  readonly variables: readonly VariableRow[];
  readonly maxTurns: string;
  readonly maxSeconds: string;
  /** Numbers, separated by commas, semicolons or line breaks. */
  readonly transferTo: string;
  /** Names, separated like the numbers. */
  readonly tools: string;
  /** JSON. */
  readonly resultSchema: string;
  /** Empty: the server's default. */
  readonly onMachine: OnMachine | "";
  readonly recording: boolean;
  readonly fromNumber: string;
  readonly fromName: string;
  readonly withheld: boolean;
  readonly reference: string;
  /** JSON. */
  readonly metadata: string;
}

/** The form as it opens. */
export const EMPTY_FORM: CallForm = {
  type: "FIXED_TTS",
  instanceId: "",
  phoneNumber: "",
  text: "",
  voiceId: "",
  audio: undefined,
  instructions: "",
  agentVoiceId: "",
  language: "",
  firstMessage: "",
  calleeSpeaksFirst: false,
  variables: [],
  maxTurns: "",
  maxSeconds: "",
  transferTo: "",
  tools: "",
  resultSchema: "",
  onMachine: "",
  recording: false,
  fromNumber: "",
  fromName: "",
  withheld: false,
  reference: "",
  metadata: "",
};
