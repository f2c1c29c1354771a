import type { CheckedCallInput } from "../../../domain/calls/call-input.ts";
import { type SipChoice, sipFaults } from "../../../domain/calls/sip-choice.ts";
import { type Fault, invalidInput } from "../../../domain/refusal.ts";
import { DialError, type Telephony } from "../../../ports/telephony.ts";

/** The choices of a call for its INVITE; undefined if there are none. */
export function sipChoiceOf({ sip, target }: Pick<CheckedCallInput, "sip" | "target">): SipChoice | undefined {
  const { headers = {} } = sip ?? {};
  const hasNoHeaders = Object.keys(headers).length === 0;
  if (hasNoHeaders && target.sipUri === undefined) return undefined;
  return { ...(!hasNoHeaders && { headers }), ...(target.sipUri !== undefined && { uri: target.sipUri }) };
}

/**
 * Checks that calls over the network may make these choices for their INVITE.
 * @throws {Refusal} `invalid_input`, with a fault for each choice that is not allowed
 */
export function assertSipAllowed(network: Telephony | undefined, choice: SipChoice | undefined): void {
  if (network === undefined || choice === undefined) return;
  const [first, ...others] = sipFaults(choice, network.capabilities.sip).map(
    (fault): Fault => ({ ...fault, code: "value_invalid" }),
  );
  if (first) throw invalidInput([first, ...others]);
}

/**
 * Repeats the check of the SIP choices before dialling: the network's rules may have changed since the call was
 * created.
 * @throws {DialError} `rejected_by_network`
 */
export function assertSipDiallable({ capabilities }: Telephony, choice: SipChoice | undefined): void {
  const [fault] = choice === undefined ? [] : sipFaults(choice, capabilities.sip);
  if (fault) throw new DialError("rejected_by_network", `not dialled: ${fault.detail}`);
}
