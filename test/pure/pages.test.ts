import { describe, expect, test } from 'vitest';
import { Refusal } from '../../src/errors.ts';
import { ago } from '../../src/http/pages/account/section.ts';
import { qrModules } from '../../src/http/pages/account/two-factor.ts';
import { html, textOf } from '../../src/http/pages/html.ts';
import { alert } from '../../src/http/pages/parts.ts';
import type { Next } from '../../src/next.ts';
import { programOf } from '../../src/services/people/sessions/program.ts';
import { dayText } from '../../src/text/dates.ts';

describe('markup', () => {
  test('values between the markup are escaped, whatever they contain', () => {
    expect(textOf(html`<p title="${`"><script>'&`}">${'<b>'}</p>`)).toBe(
      '<p title="&quot;&gt;&lt;script&gt;&#39;&amp;">&lt;b&gt;</p>',
    );
    // Data from outside cannot imitate our markup, because only this code has its symbol.
    const forged = JSON.parse('{"markup":"<b>","Symbol(markup)":"<b>"}');
    expect(textOf(html`${forged}`)).not.toContain('<b>');
  });

  test('markup inside markup stays, lists are joined, and empty values are left out', () => {
    const items = ['a', '&'].map((text) => html`<li>${text}</li>`);
    expect(textOf(html`<ul>${items}</ul>${null}${undefined}${false}${0}`)).toBe(
      '<ul><li>a</li><li>&amp;</li></ul>0',
    );
  });
});

test('a page shows the hint of a refusal unless it is for a terminal or a program', () => {
  const shown = (hint?: Next) => {
    const refusal = new Refusal('conflict', 'It failed.', { hint });
    return textOf(html`${alert({ refusal })}`).match(/<p>(?!<strong>).*?<\/p>/g) ?? [];
  };
  expect(shown('Sign in again.')).toEqual(['<p>Sign in again.</p>']);
  expect(shown()).toEqual([]);
  expect(shown({ technical: 'Send the current six digits as `totpCode`.' })).toEqual([]);
  expect(shown({ to: 'change it', operation: 'app.set' })).toEqual([]);
  expect(shown(['Remove some.', { to: 'list them', operation: 'client.list' }])).toEqual([
    '<p>Remove some.</p>',
  ]);
});

test.each([
  [10, 'just now'],
  [90, '1 minute ago'],
  [3 * 3600, '3 hours ago'],
  [86_400, 'yesterday'],
  [40 * 86_400, 'last month'],
])('%i seconds are shown as %s', (seconds, told) => {
  const now = new Date('2026-11-20T12:00:00Z');
  expect(ago(now, new Date(now.getTime() - seconds * 1000).toISOString())).toBe(told);
  expect(dayText('2026-11-20T23:59:00Z')).toBe('20 November 2026');
});

test.each([
  ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox on Linux'],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605 Version/19.0 Mobile/15E148 Safari/604.1',
    'Safari on iOS',
  ],
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537 Chrome/140.0 Safari/537 Edg/140.0',
    'Edge on Windows',
  ],
  ['curl/8.14.1', 'curl'],
  ['backup-tool/2 (nightly)', 'backup-tool'],
  [null, 'Unknown program'],
])('the user agent %s is shown as %s', (userAgent, told) => {
  expect(programOf(userAgent)).toBe(told);
});

test('a QR code has three finder patterns, a timing pattern and a quiet zone', () => {
  for (const length of [10, 60, 110, 160, 200]) {
    const modules = qrModules('x'.repeat(length));
    const size = modules.length;
    expect((size - 2 - 17) % 4).toBe(0);
    for (const row of modules) expect(row).toHaveLength(size);
    const finder = ['#######', '#.....#', '#.###.#', '#.###.#', '#.###.#', '#.....#', '#######'];
    for (const [x, y] of [
      [1, 1],
      [size - 8, 1],
      [1, size - 8],
    ] as const) {
      const seen = finder.map((_, row) =>
        finder.map((__, column) => (modules[y + row]?.[x + column] ? '#' : '.')).join(''),
      );
      expect(seen).toEqual(finder);
    }
    for (let at = 9; at < size - 9; at += 1) expect(modules[7]?.[at]).toBe(at % 2 === 1);
    const frame = modules.flatMap((row, y) =>
      y === 0 || y === size - 1 ? row : [row[0], row[size - 1]],
    );
    expect(frame.some(Boolean)).toBe(false);
  }
});
