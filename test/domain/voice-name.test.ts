import { describe, expect, it } from "vitest";
import { voiceName } from "../../src/domain/voice-name.ts";

describe("the name of a voice", () => {
  it.each([
    ["neural", "vits-piper-pt_BR-faber-medium", "Faber"],
    ["neural", "vits-piper-pt_BR-duo-low#0", "Duo 1"],
    ["neural", "vits-piper-pt_BR-duo-low#1", "Duo 2"],
    ["neural", "vits-piper-en_GB-northern_english_male-medium", "Northern English Male"],
    ["neural", "vits-piper-pt_PT-tugão-medium-int8", "Tugão"],
    ["neural", "vits-piper-en_US-medium", "vits-piper-en_US-medium"],
    ["neural", "kokoro-multi-lang-v1_0#43", "Kokoro Multi Lang 44"],
    ["neural", "sherpa-onnx-supertonic-int8-2026-03-06#2", "Supertonic 3"],
    ["neural", "#1", "#1"],
    ["flite", "slt", "SLT"],
    ["flite", "kal16", "KAL16"],
    ["espeak-ng", "roa/pt-BR", "eSpeak"],
    ["espeak-ng", "roa/pt-BR+f2", "eSpeak, female 2"],
    ["espeak-ng", "gmw/en-US+m3", "eSpeak, male 3"],
    ["espeak-ng", "gmw/en+croak", "eSpeak, croak"],
    ["http", "pf_dora", "Dora"],
    ["http", "af_heart", "Heart"],
    ["http", "alloy", "Alloy"],
    ["http", "front_desk", "Front Desk"],
    ["http", "en_US-lessac-medium", "Lessac"],
    ["http", "pt-BR-FranciscaNeural", "FranciscaNeural"],
    ["http", "21m00Tcm4TlvDq8ikWAM", "21m00Tcm4TlvDq8ikWAM"],
    ["http", "", ""],
    ["of-a-program", "vits-piper-pt_BR-faber-medium", "vits-piper-pt_BR-faber-medium"],
  ])("that the engine %s calls %s is %s", (engine, name, expected) => {
    expect(voiceName({ engine, name })).toBe(expected);
  });

  it("uses the words of the reader's language", () => {
    const words = { female: "feminina", male: "masculina" };
    expect(voiceName({ engine: "espeak-ng", name: "roa/pt-BR+f2" }, words)).toBe("eSpeak, feminina 2");
    expect(voiceName({ engine: "espeak-ng", name: "roa/pt-BR+m3" }, words)).toBe("eSpeak, masculina 3");
  });
});
