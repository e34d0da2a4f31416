import fc from 'fast-check';
import { MessageParser } from 'ldapts';
import { describe, expect, test } from 'vitest';
import {
  messageReader,
  type SoundMessage,
  sizeOf,
  soundMessage,
} from '../../src/outbound/directory/message.ts';
import { entry, reference, result } from '../support/scripted-directory.ts';

const dn = 'uid=ada,ou=people,dc=acme,dc=test';
const answers = [
  result({ id: 2, kind: 'bind' }, 49, 'wrong'),
  result({ id: 3, kind: 'search' }, 4),
  result({ id: 1, kind: 'extended' }),
  entry({ id: 3 }, dn, {
    mail: ['ada@acme.test', ''],
    sn: [],
    objectGUID: [Buffer.from([0xff, 0])],
  }),
  reference({ id: 3 }, 'ldap://other.test/'),
];

/** Reads the chunks, and returns the messages and the reasons of failures. */
function read(chunks: Buffer[], most = 2 ** 20) {
  const messages: SoundMessage[] = [];
  const failures: string[] = [];
  const reader = messageReader(
    most,
    (message) => messages.push(message),
    (reason) => failures.push(reason),
  );
  for (const chunk of chunks) reader(chunk);
  return { messages, failures };
}

describe('L5 bytes that reach the library', () => {
  test('L5 valid answers are read, wherever they are split', () => {
    const whole = Buffer.concat(answers);
    fc.assert(
      fc.property(fc.array(fc.nat(whole.length)), (cuts) => {
        const at = [0, ...cuts.sort((a, b) => a - b), whole.length];
        const chunks = at.slice(1).map((to, before) => whole.subarray(at[before], to));
        const { messages, failures } = read(chunks.filter(({ length }) => length > 0));
        expect(failures).toEqual([]);
        expect(messages.map(({ result }) => result?.code)).toEqual([
          49,
          4,
          0,
          undefined,
          undefined,
        ]);
      }),
    );
  });

  test('L5 a mangled answer is refused or harmless: the library never hangs', () => {
    const mangled = fc
      .tuple(
        fc.constantFrom(...answers),
        fc.array(fc.tuple(fc.nat(200), fc.nat(255)), { minLength: 1, maxLength: 4 }),
      )
      .map(([answer, changes]) => {
        const bytes = Buffer.from(answer);
        for (const [at, byte] of changes) bytes[at % bytes.length] = byte;
        return bytes;
      });
    fc.assert(
      fc.property(mangled, (bytes) => {
        const sound = sizeOf(bytes) === bytes.length ? soundMessage(bytes) : null;
        if (sound === null) return;
        const parser = new MessageParser();
        parser.on('error', () => undefined);
        parser.read(sound.bytes, new Map());
      }),
      { numRuns: 20_000 },
    );
  });

  test.each([
    ['text that is not LDAP', Buffer.from('GET / HTTP/1.1'), 'malformed'],
    ['an indefinite length', Buffer.from([0x30, 0x80, 0]), 'malformed'],
    ['a length of five bytes', Buffer.from([0x30, 0x85, 0, 0, 0, 0, 1]), 'malformed'],
    ['a stated length over the limit', Buffer.from([0x30, 0x84, 0, 0x20, 0, 0]), 'too_large'],
    [
      'a message with two operations',
      Buffer.from([0x30, 7, 2, 1, 2, 0x73, 0, 0x73, 0]),
      'malformed',
    ],
    ['an id that is not a number', Buffer.from([0x30, 5, 4, 1, 2, 0x73, 0]), 'malformed'],
    ['a request', Buffer.from([0x30, 5, 2, 1, 2, 0x42, 0]), 'malformed'],
    [
      'a result of two bytes',
      Buffer.from([0x30, 13, 2, 1, 2, 0x61, 8, 10, 2, 0, 0, 4, 0, 4, 0]),
      'malformed',
    ],
    [
      'a result that contains controls',
      Buffer.from([0x30, 14, 2, 1, 2, 0x61, 9, 10, 1, 0, 4, 0, 4, 0, 0xa0, 0]),
      'malformed',
    ],
  ])('L5 %s is refused', (_, bytes, reason) => {
    expect(read([bytes]).failures).toEqual([reason]);
  });

  test('L5 the size of all messages together is limited', () => {
    const one = entry({ id: 3 }, dn, {});
    const { failures } = read(
      Array.from({ length: 30 }, () => one),
      one.length * 20,
    );
    expect(failures[0]).toBe('too_large');
  });

  test('response controls are removed from an answer', () => {
    const plain = result({ id: 2, kind: 'bind' });
    const controls = Buffer.from([0xa0, 8, 0x30, 6, 4, 4, 0x31, 0x2e, 0x32, 0x2e]);
    const bytes = Buffer.concat([
      Buffer.from([0x30, plain.length - 2 + controls.length]),
      plain.subarray(2),
      controls,
    ]);
    expect(soundMessage(bytes)?.bytes).toEqual(soundMessage(plain)?.bytes);
  });
});
