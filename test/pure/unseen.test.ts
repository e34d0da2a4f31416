import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { name } from '../../src/services/foundation/fields.ts';
import { escaped } from '../../src/text/escape.ts';
import { isSeen, replaceUnseen } from '../../src/text/unseen.ts';

// Security X9: one rule decides what a name must not contain and a terminal shows escaped.

const withoutUnseen = (text: string) => replaceUnseen(text, () => '');
const tag = (text: string) =>
  [...text].map((sign) => String.fromCodePoint(0xe0000 + sign.charCodeAt(0)));

const hidden: [string, string][] = [
  ['a control character', 'Ada\u0007'],
  ['a C1 control character', 'A\u009bda'],
  ['a line break', 'Ada\nroot'],
  ['a bidirectional override', 'Ada\u202egpj.exe'],
  ['a bidirectional isolate', '\u2066Ada\u2069'],
  ['a left-to-right mark', 'Ada\u200e'],
  ['a line separator', 'Ada\u2028root'],
  ['a byte order mark', 'A\ufeffda'],
  ['a zero-width space', 'A\u200bda'],
  ['a word joiner', 'A\u2060da'],
  ['an invisible times', 'A\u2062da'],
  ['a soft hyphen', 'A\u00adda'],
  ['a grapheme joiner', 'A\u034fda'],
  ['a Mongolian vowel separator', 'A\u180eda'],
  ['a deprecated format character', 'A\u206ada'],
  ['an annotation', 'A\ufff9d\ufffaa\ufffb'],
  ['a Hangul filler', '\u3164'],
  ['a half-width Hangul filler', 'Ada\uffa0'],
  ['a musical format character', 'Ada\u{1d173}'],
  ['tag characters', `Ada${tag('admin').join('')}`],
  ['a language tag', 'Ada\u{e0001}'],
  ['half a surrogate pair', 'Ada\ud800'],
  ['a joiner at the end', 'Ada\u200d'],
  ['a joiner at the beginning', '\u200cAda'],
  ['a joiner beside a space', 'Ada \u200cByron'],
  ['a joiner beside a digit', 'Ada1\u200d2'],
  ['two joiners', 'A\u200d\u200cda'],
  ['a variation selector without a base character', '\ufe0fAda'],
  ['data in variation selectors', 'Ada\ufe01\ufe02\u{e0101}\u{e0102}'],
];

const fine: [string, string][] = [
  ['Persian', 'نامه‌ای'],
  ['Sinhala', 'ශ්‍රී ලංකා'],
  ['Malayalam', 'ജോര്‍ജ്ജ്'],
  ['Bengali', 'র‍্যাব'],
  ['Hindi', 'क्‍ष'],
  ['a family of emoji', 'Team 👩‍👩‍👧‍👦'],
  ['an emoji with a skin colour and a joiner', '👩🏽‍💻 Ada'],
  ['a heart on fire', '❤️‍🔥'],
  ['a rainbow flag', '🏳️‍🌈'],
  ['a key cap', '#️⃣1️⃣'],
  ['an ideographic variation', '葛\u{e0100}城'],
  ['Mongolian', 'ᠮᠣᠩᠭᠣᠯ\u180b'],
  ['accents', 'Åre Zoë O’Brien-Smith'],
  ['combining accents', 'Zoe\u0308'],
  ['Arabic', 'مُحَمَّد'],
];

describe('X9 characters that cannot be seen', () => {
  test.each(hidden)('X9 a name with %s is refused', (_what, text) => {
    expect(name.safeParse(text)).toMatchObject({ success: false });
    expect(isSeen(text)).toBe(false);
  });

  test.each(hidden)('X9 a terminal shows %s as an escape', (_what, text) => {
    const shown = escaped(text);
    expect(shown).toMatch(/\\u[0-9a-f]{4}/);
    expect(isSeen(shown)).toBe(true);
    expect(JSON.parse(`"${shown}"`)).toBe(text);
  });

  test.each(fine)(
    'X9 a name with %s is accepted, and a terminal shows it unchanged',
    (_what, text) => {
      expect(name.parse(text)).toBe(text);
      expect(escaped(text)).toBe(text);
    },
  );

  test('X9 text from outside passes the rule after these characters are removed, whatever remains', () => {
    const signs = [...hidden, ...fine].flatMap(([, text]) => [...text]);
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...signs)), (parts) => {
        const seen = withoutUnseen(parts.join(''));
        expect(isSeen(seen)).toBe(true);
        expect(withoutUnseen(seen)).toBe(seen);
        expect(isSeen(escaped(parts.join('')))).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });
});
