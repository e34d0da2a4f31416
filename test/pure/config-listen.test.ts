import { expect, test } from 'vitest';
import { listenFor } from '../../src/config/paths.ts';

test.each([
  ['http://127.example.com:8455', null],
  ['http://127.0.0.1:8455', '127.0.0.1:8455'],
  ['http://localhost:8455', '127.0.0.1:8455'],
  ['http://[::1]:8455', '[::1]:8455'],
  // At these addresses, a proxy answers.
  ['http://localhost', null],
  ['http://127.0.0.1:443', null],
  ['https://127.0.0.1:8455', null],
  ['http://id.example.com:8455', null],
])('for the base URL %s, the listen address is %s', (baseUrl, listen) => {
  expect(listenFor(baseUrl)).toBe(listen);
});
