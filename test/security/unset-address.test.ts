import { expect, test } from 'vitest';
import { createServer } from '../../src/http/server.ts';
import { surface } from '../../src/http/surface.ts';
import { createLog } from '../../src/log/log.ts';
import { createClient } from '../support/http.ts';
import { openIdctl } from '../support/idctl.ts';

test('X4 if the base URL is unset, a host that cannot be an address is not written to the log', async () => {
  const idctl = await openIdctl();
  const lines: string[] = [];
  const log = createLog(
    { log: { level: 'warn', format: 'text' } },
    { write: (line) => lines.push(line) },
  );
  const config = { ...idctl.app.config, baseUrlUnset: true as const };
  const server = createServer({ ...idctl.app, config, log }, surface);
  try {
    await server.listen('127.0.0.1:0');
    const client = createClient(server.url ?? '');
    const hosts = [
      'id.test baseUrl=https://eve.test',
      'id.test/path',
      'ada@id.test',
      'id.test:99999',
      'ok.test',
    ];
    for (const host of hosts) {
      const headers = { accept: 'text/html', 'x-forwarded-host': host };
      expect((await client.get('/login', headers)).status).toBe(503);
    }
    const seen = lines.flatMap((line) => / seen=(.*) baseUrl=/.exec(line)?.[1] ?? []);
    expect(seen).toEqual(['not an address', 'http://ok.test']);
  } finally {
    await server.close(0);
    await idctl.close();
  }
});
