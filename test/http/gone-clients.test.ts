import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { transaction } from '../../src/database/transaction.ts';
import { ClientGone } from '../../src/errors.ts';
import { routeTo } from '../../src/http/route.ts';
import { operation } from '../../src/services/foundation/operation.ts';
import { openDoor } from '../support/door.ts';
import { openInstance } from '../support/instance.ts';

const body = '{"name":"Never"}';

test('X11 a request whose client has gone stops at its next step', async () => {
  const gone = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const ran: unknown[] = [];
  const door = await openDoor(
    [
      routeTo('me.see', 'POST', '/api/v1/x', {
        summary: 'Runs',
        input: z.strictObject({ name: z.string() }),
        run: (_ctx, { name }) => void ran.push(name),
      }),
    ],
    {
      authenticate: async (_ctx, credential) => {
        asked.resolve();
        if (credential === 'leaves') await gone.promise;
        return { kind: 'user', accountId: 'a', name: 'Ada', via: 'session', sessionId: 's' };
      },
    },
  );
  const socket = connect(Number(new URL(door.url).port), '127.0.0.1');
  const head = 'POST /api/v1/x HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer leaves\r\n';
  const type = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
  socket.write(head + type + body);
  await asked.promise;
  socket.destroy();
  await once(socket, 'close');
  await expect.poll(() => door.log.filter((line) => line['aborted'] === true)).toHaveLength(1);
  gone.resolve();
  const stayed = await door.post('/api/v1/x', { name: 'Stays' }, { authorization: 'Bearer good' });
  expect([stayed.status, ran]).toEqual([204, ['Stays']]);
  expect(door.log.filter(({ msg }) => msg === 'bug')).toEqual([]);
});

test('X11 an operation stops before its work if the client has gone, but not in a transaction', async () => {
  const instance = await openInstance();
  const ran: string[] = [];
  const perform = operation({
    authority: 'public',
    input: z.strictObject({ name: z.string() }),
    run: async (_ctx, { name }) => void ran.push(name),
  });
  const here = instance.operator();
  const ctx = { ...here, client: { ...here.client, isGone: () => true } };
  await expect(perform(ctx, { name: 'outside' })).rejects.toThrow(ClientGone);
  await transaction(() => perform(ctx, { name: 'inside' }));
  await perform({ ...ctx, client: { ...ctx.client, isGone: () => false } }, { name: 'here' });
  expect(ran).toEqual(['inside', 'here']);
});
