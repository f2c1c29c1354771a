import { Button } from "../../components/button.tsx";
import { Choice } from "../../components/field.tsx";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/new-call.ts";
import pt from "../../dictionary/pt/new-call.ts";
import type { VariableRow } from "./call-form.ts";
import { faultAt, MachineField, TextArea, TextField } from "./form-field.tsx";
import type { FormState } from "./form-state.ts";
import { VoiceField } from "./voice/voice-field.tsx";

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
        field="/agent/instructions"
        label={agent.instructions}
        hint={agent.instructionsHint}
        placeholder={agent.placeholder}
        rows={7}
      />
      {instructions.trim() === "" && (
        <div>
          <Button small variant="quiet" icon="plus" onClick={() => state.edit({ instructions: agent.script })}>
            {agent.example}
          </Button>
        </div>
      )}
      <VoiceField state={state} name="agentVoiceId" field="/agent/voiceId" />
      {!calleeSpeaksFirst && (
        <TextField
          state={state}
          name="firstMessage"
          field="/agent/firstMessage"
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
      <MachineField state={state} field="/agent/onMachine" />
      <details class="more">
        <summary>{agent.options}</summary>
        <div class="stack">
          <div class="columns">
            <TextField
              state={state}
              name="language"
              field="/agent/language"
              label={agent.language}
              hint={agent.languageHint}
            />
            <TextField
              state={state}
              name="maxTurns"
              field="/agent/maxTurns"
              label={agent.maxTurns}
              inputMode="numeric"
            />
            <TextField
              state={state}
              name="maxSeconds"
              field="/agent/maxSeconds"
              label={agent.maxSeconds}
              inputMode="numeric"
            />
            <TextField state={state} name="tools" field="/agent/tools" label={agent.tools} hint={agent.toolsHint} />
          </div>
          <TextField
            state={state}
            name="transferTo"
            field="/agent/transferTo"
            label={agent.transferTo}
            hint={agent.transferToHint}
          />
          <TextArea
            state={state}
            name="resultSchema"
            field="/agent/resultSchema"
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
  const change = (rowIndex: number, change: Partial<VariableRow>): void =>
    state.edit({ variables: variables.map((row, index) => (index === rowIndex ? { ...row, ...change } : row)) });
  return (
    <fieldset class="field variables">
      <legend class="group-label">{agent.variables}</legend>
      {variables.map((row, rowIndex) => (
        <div class="variable" key={rowIndex}>
          <input
            class="input"
            aria-label={agent.variableName(rowIndex + 1)}
            placeholder={agent.name}
            aria-invalid={fault !== undefined}
            value={row.name}
            spellcheck={false}
            onInput={(event) => change(rowIndex, { name: event.currentTarget.value })}
          />
          <input
            class="input"
            aria-label={agent.variableValue(rowIndex + 1)}
            placeholder={agent.value}
            value={row.value}
            onInput={(event) => change(rowIndex, { value: event.currentTarget.value })}
          />
          <Button
            small
            variant="plain"
            icon="trash"
            label={agent.removeVariable(row.name)}
            onClick={() => state.edit({ variables: variables.filter((_, index) => index !== rowIndex) })}
          >
            {""}
          </Button>
        </div>
      ))}
      <div>
        <Button
          small
          variant="quiet"
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
