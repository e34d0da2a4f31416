import { describe, expect, test } from 'vitest';
import { type Examination, printSteps } from '../../src/cli/steps.ts';

const csi = '\u001b[';

const examination: Examination = {
  ok: false,
  message: 'Step 3, client authentication, failed: not accepted (invalid_client).',
  steps: [
    { name: 'name', ok: true, expected: 'addresses', seen: 'id.acme.test has one address' },
    { name: 'clock', ok: true, skipped: true, seen: 'not checked: no server tells the time' },
    {
      name: 'TLS',
      ok: true,
      seen: 'a trusted certificate',
      hint: 'Renew the certificate before then.',
    },
    {
      name: 'client authentication',
      ok: false,
      expected: 'the client ID and secret are accepted, a made-up code is not',
      seen: 'not accepted (invalid_client)',
      hint: `Enter the client ID and the client secret again, as the provider shows them.${csi}31m`,
    },
  ],
};

function shown(columns: number, colour = false): string {
  let text = '';
  const write = (part: string) => {
    text += part;
  };
  printSteps(examination, { write, columns, colour });
  return text;
}

describe('interface page: the steps of an examination', () => {
  test('are plain and not shortened in a pipe', () => {
    expect(shown(Number.POSITIVE_INFINITY).split('\n')).toEqual([
      '1 ok name: id.acme.test has one address',
      '2 - clock: not checked: no server tells the time',
      '3 ok TLS: a trusted certificate',
      '    note:     Renew the certificate before then.',
      '4 failed client authentication',
      '    expected: the client ID and secret are accepted, a made-up code is not',
      '    seen:     not accepted (invalid_client)',
      '    change:   Enter the client ID and the client secret again, as the provider shows them.\\u001b[31m',
      'Step 3, client authentication, failed: not accepted (invalid_client).',
      '',
    ]);
  });

  test('have a mark on a terminal, and break between words', () => {
    const lines = shown(80).split('\n');
    expect(lines[0]).toBe('1 ✓ name: id.acme.test has one address');
    expect(lines[4]).toBe('4 ✗ client authentication');
    expect(lines.slice(7, 9)).toEqual([
      '    change:   Enter the client ID and the client secret again, as the provider',
      '              shows them.\\u001b[31m',
    ]);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
  });

  test('have colour only if colour is on', () => {
    expect(shown(80)).not.toContain(csi);
    expect(shown(80, true)).toContain(`${csi}32m✓`);
  });
});
