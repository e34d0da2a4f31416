import { writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { DatabaseSync, StatementSync } from 'node:sqlite';

// Preloaded into a command. It counts the statements that the command sends to its databases, and
// kills the command right before statement KILL_AT. A command that runs to its end writes the count
// to COUNT_FILE.

const last = Number(process.env['KILL_AT'] ?? Number.POSITIVE_INFINITY);
let count = 0;

function beforeEach(prototype: object, name: string, counts: (self: unknown) => boolean): void {
  const real: unknown = Reflect.get(prototype, name);
  if (typeof real !== 'function') throw new Error(`there is no ${name} to count`);
  Reflect.set(prototype, name, function (this: unknown, ...given: unknown[]) {
    if (counts(this)) {
      count += 1;
      if (count === last) process.kill(process.pid, 'SIGKILL');
    }
    return Reflect.apply(real, this, given);
  });
}

for (const name of ['all', 'run', 'get']) beforeEach(StatementSync.prototype, name, () => true);
beforeEach(DatabaseSync.prototype, 'exec', () => true);
// Counts writes to PostgreSQL only: a pipe to the caller has no remote port.
beforeEach(Socket.prototype, 'write', (socket) => {
  return socket instanceof Socket && socket.remotePort !== undefined;
});

process.on('exit', () => {
  const file = process.env['COUNT_FILE'];
  if (file !== undefined) writeFileSync(file, String(count));
});
