import { expect, test } from "vitest";
import { changeLanguage } from "../../../adapters/console/app/dictionary/language.ts";
import { targetFaultPlace, targetFaultText } from "../../../adapters/console/app/pages/batches/target-fault-texts.ts";

const NUMBER_FAULT = {
  column: "phoneNumber",
  file_column: "Telefone",
  code: "phone_number_invalid",
  detail: 'column "Telefone": "12" must be an E.164 number',
};

test("a fault's place is its column in the file, or else its field", () => {
  const { file_column: _, ...faultOfField } = NUMBER_FAULT;
  const placesOf = (...columns: string[]) => columns.map((column) => targetFaultPlace({ ...faultOfField, column }));
  expect(targetFaultPlace(NUMBER_FAULT)).toBe("Telefone");
  expect(placesOf("phoneNumber", "nome", "message.tts.text", "")).toEqual(["number", "nome", "message", ""]);
  changeLanguage("pt");
  expect(placesOf("phoneNumber", "nome", "message.tts.text", "")).toEqual(["número", "nome", "mensagem", ""]);
  changeLanguage("en");
});

test("a fault's text does not name the column", () => {
  expect(targetFaultText(NUMBER_FAULT)).toBe('"12" must be an E.164 number');
  const stored = { column: "phoneNumber", code: "value_invalid", detail: 'column "Telefone": an earlier text' };
  expect(targetFaultText(stored)).toBe(stored.detail);
});
