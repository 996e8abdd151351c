import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseLaunchId } from "../../src/domain/ids.ts";
import type { IdSource } from "../../src/ports/ids.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** What every `IdSource` owes its callers. */
export function idsContract(name: string, open: () => IdSource): void {
  describe(`${name} is an IdSource`, () => {
    test("launch ids parse as launch ids and none is given twice", () => {
      const ids = open();
      const given = Array.from({ length: 100 }, () => ids.launchId());
      expect(given.map((id) => parseLaunchId(id))).toEqual(given);
      expect(new Set(given).size).toBe(100);
    });

    test("UUIDs have the form of RFC 9562 in lower case and none is given twice", () => {
      const ids = open();
      const given = Array.from({ length: 100 }, () => ids.uuid());
      for (const uuid of given) expect(uuid).toMatch(UUID);
      expect(new Set(given).size).toBe(100);
    });

    test("an operation id is a UUID of version 8, equal for equal parts from any source", () => {
      const anyParts = fc.array(fc.string(), { maxLength: 4 });
      fc.assert(
        fc.property(anyParts, (parts) => {
          const id = open().operationId(parts);
          expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
          expect(open().operationId([...parts])).toBe(id);
        }),
      );
    });

    test("operation ids of different parts differ, also where their text runs together", () => {
      const ids = open();
      const named = [
        [],
        [""],
        ["", ""],
        ["ab", "c"],
        ["a", "bc"],
        ["abc"],
        ["c", "ab"],
        ['a","b'],
        ["a", "b"],
      ];
      expect(new Set(named.map((parts) => ids.operationId(parts))).size).toBe(named.length);
    });

    test("an operation id is made of the SHA-256 of its parts as JSON", () => {
      // printf '%s' '["app","app-1","kill","request-1"]' | sha256sum
      const id = "98f96e9a-65c2-88ca-acb3-24845f1937ce";
      expect(open().operationId(["app", "app-1", "kill", "request-1"])).toBe(id);
    });

    test("a digest is short, hexadecimal, and equal for equal text from any source", () => {
      fc.assert(
        fc.property(fc.string({ unit: "binary" }), (text) => {
          const digest = open().digest(text);
          expect(digest).toMatch(/^[0-9a-f]{16}$/);
          expect(open().digest(text)).toBe(digest);
        }),
      );
    });

    test("digests of different texts differ", () => {
      const ids = open();
      const texts = ["", " ", "a", "b", "é", "a\n"];
      expect(new Set(texts.map((text) => ids.digest(text))).size).toBe(texts.length);
    });

    test("a digest is the beginning of the text's SHA-256", () => {
      // echo -n ao | sha256sum
      expect(open().digest("ao")).toBe("2dd411308b37266d");
    });
  });
}
