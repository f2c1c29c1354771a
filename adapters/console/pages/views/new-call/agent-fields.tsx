import { Button } from "../../components/button.tsx";
import { Choice } from "../../components/field.tsx";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/new-call.ts";
import pt from "../../dictionary/pt/new-call.ts";
import type { VariableRow } from "./call-form.ts";
import { faultAt, MachineField, TextArea, TextField } from "./form-field.tsx";
import type { FormState } from "./form-state.ts";
import { VoiceField } from "./voice-field.tsx";

const t = dictionary({ en, pt });

/** Fields for an agent's instructions. */
export function AgentFields({ state }: { readonly state: FormState }) {
  const { agent } = t.value;
  const { instructions, calleeSpeaksFirst } = state.form.value;
  return (
    <>
      <TextArea
        state={state}
        name="instructions"
        at="/agent/instructions"
        label={agent.instructions}
        hint={agent.instructionsHint}
        placeholder={agent.placeholder}
        rows={7}
      />
      {instructions.trim() === "" && (
        <div>
          <Button small look="quiet" icon="plus" onClick={() => state.edit({ instructions: agent.script })}>
            {agent.example}
          </Button>
        </div>
      )}
      <VoiceField state={state} name="agentVoiceId" at="/agent/voiceId" />
      {!calleeSpeaksFirst && (
        <TextField
          state={state}
          name="firstMessage"
          at="/agent/firstMessage"
          label={agent.firstMessage}
          hint={agent.firstMessageHint}
        />
      )}
      <Choice
        type="checkbox"
        title={agent.calleeFirst}
        explanation={agent.calleeFirstText}
        checked={calleeSpeaksFirst}
        onChange={(event) => state.edit({ calleeSpeaksFirst: event.currentTarget.checked })}
      />
      <Variables state={state} />
      <MachineField state={state} at="/agent/onMachine" />
      <details class="more">
        <summary>{agent.options}</summary>
        <div class="stack">
          <div class="columns">
            <TextField
              state={state}
              name="language"
              at="/agent/language"
              label={agent.language}
              hint={agent.languageHint}
            />
            <TextField state={state} name="maxTurns" at="/agent/maxTurns" label={agent.maxTurns} inputMode="numeric" />
            <TextField
              state={state}
              name="maxSeconds"
              at="/agent/maxSeconds"
              label={agent.maxSeconds}
              inputMode="numeric"
            />
            <TextField state={state} name="tools" at="/agent/tools" label={agent.tools} hint={agent.toolsHint} />
          </div>
          <TextField
            state={state}
            name="transferTo"
            at="/agent/transferTo"
            label={agent.transferTo}
            hint={agent.transferToHint}
          />
          <TextArea
            state={state}
            name="resultSchema"
            at="/agent/resultSchema"
            label={agent.resultSchema}
            hint={agent.resultSchemaHint}
            placeholder='{"type":"object","properties":{"appointment":{"type":"string"}}}'
            spellcheck={false}
          />
        </div>
      </details>
    </>
  );
}

function Variables({ state }: { readonly state: FormState }) {
  const { agent } = t.value;
  const { variables } = state.form.value;
  const fault = faultAt(state, "/agent/variables");
  const change = (at: number, change: Partial<VariableRow>): void =>
    state.edit({ variables: variables.map((row, index) => (index === at ? { ...row, ...change } : row)) });
  return (
    <fieldset class="field variables">
      <legend class="group-label">{agent.variables}</legend>
      {variables.map((row, at) => (
        <div class="variable" key={at}>
          <input
            class="input"
            aria-label={agent.variableName(at + 1)}
            placeholder={agent.name}
            aria-invalid={fault !== undefined}
            value={row.name}
            spellcheck={false}
            onInput={(event) => change(at, { name: event.currentTarget.value })}
          />
          <input
            class="input"
            aria-label={agent.variableValue(at + 1)}
            placeholder={agent.value}
            value={row.value}
            onInput={(event) => change(at, { value: event.currentTarget.value })}
          />
          <Button
            small
            look="plain"
            icon="trash"
            label={agent.removeVariable(row.name)}
            onClick={() => state.edit({ variables: variables.filter((_, index) => index !== at) })}
          >
            {""}
          </Button>
        </div>
      ))}
      <div>
        <Button
          small
          look="quiet"
          icon="plus"
          onClick={() => state.edit({ variables: [...variables, { name: "", value: "" }] })}
        >
          {agent.addVariable}
        </Button>
      </div>
      <div class="field-hint">{agent.variablesHint}</div>
      {fault !== undefined && <div class="field-fault">{fault}</div>}
    </fieldset>
  );
}
