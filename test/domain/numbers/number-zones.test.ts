import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { zonesOfNumber } from "../../../src/domain/numbers/number-zones.ts";
import { COUNTRIES } from "../../../src/domain/numbers/time-zones/countries.ts";
import { DIVIDED_COUNTRIES } from "../../../src/domain/numbers/time-zones/divided-countries.ts";
import { NORTH_AMERICA } from "../../../src/domain/numbers/time-zones/north-america.ts";
import { fuzz } from "../../support/fuzz.ts";

const TABLES = [COUNTRIES, NORTH_AMERICA, ...DIVIDED_COUNTRIES];

describe("the time zones", () => {
  test.each([
    ["+4915112345678", "Europe/Berlin"],
    ["+12125550100", "America/New_York"],
    ["+14805550100", "America/Phoenix"],
    ["+12705550100", "America/New_York America/Chicago"],
    ["+18765550100", "America/Jamaica"],
    ["+5511987654321", "America/Sao_Paulo"],
    ["+5592987654321", "America/Manaus"],
    ["+5581987654321", "America/Sao_Paulo America/Noronha"],
    ["+526641234567", "America/Tijuana"],
    ["+525512345678", "America/Mexico_City"],
    ["+74951234567", "Europe/Moscow"],
    ["+74151234567", "Asia/Kamchatka"],
    ["+77011234567", "Asia/Almaty Asia/Aqtobe"],
    ["+34928123456", "Atlantic/Canary"],
    ["+34912345678", "Europe/Madrid"],
    ["+34612345678", "Europe/Madrid Atlantic/Canary"],
    ["+351296123456", "Atlantic/Azores"],
    ["+56321234567", "America/Santiago Pacific/Easter"],
    ["+61212345678", "Australia/Sydney Australia/Adelaide Australia/Lord_Howe"],
    ["+61755123456", "Australia/Brisbane Australia/Sydney"],
    ["+623612345678", "Asia/Makassar"],
    ["+97611123456", "Asia/Ulaanbaatar"],
    ["+243812345678", "Africa/Kinshasa Africa/Lubumbashi"],
  ])("of %s are %s", (phone, zones) => {
    expect(zonesOfNumber(phone)).toEqual(zones.split(" "));
  });

  test.each(["+79161234567", "+61412345678", "+628123456789", "+56912345678", "+5215512345678"])(
    "of the mobile number %s are all zones of its country",
    (phone) => {
      expect(zonesOfNumber(phone).length).toBeGreaterThan(2);
    },
  );

  test.each([
    "+80012345678",
    "+18005550100",
    "+870773111632",
    "+881612345678",
    "+88312345678",
    "+9795551234",
    "+999123",
  ])("of %s, which belongs to no country, are unknown", (phone) => {
    expect(zonesOfNumber(phone)).toEqual([]);
  });

  fuzz(
    "are those of the longest listed prefix, for any text",
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^\+[1-9]\d{6,14}$/)), (phone) => {
      expect(Array.isArray(zonesOfNumber(phone))).toBe(true);
    }),
  );
});

describe("the zone tables", () => {
  test("name only zones that this runtime supports", () => {
    const names = TABLES.flatMap(({ zones }) => zones.flatMap(([list]) => list.split(" "))).filter(Boolean);
    for (const timeZone of names) expect(() => new Intl.DateTimeFormat("en", { timeZone })).not.toThrow();
  });

  test("list each prefix once, as digits only", () => {
    const prefixes = TABLES.flatMap(({ code, zones }) =>
      zones.flatMap(([, list]) => list.split(" ").map((prefix) => code + prefix)),
    );
    expect(prefixes.filter((prefix, index) => prefixes.indexOf(prefix) !== index)).toEqual([]);
    expect(prefixes.filter((prefix) => !/^[1-9]\d*$/.test(prefix))).toEqual([]);
  });
});
