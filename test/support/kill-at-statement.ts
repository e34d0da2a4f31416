import { writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { DatabaseSync, StatementSync } from 'node:sqlite';

// Preloaded into a command: it counts what the command says to its databases, and ends it by SIGKILL right before
// number KILL_AT. A command that gets to its end leaves the count in the file COUNT_FILE.

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
// PostgreSQL; a pipe to the caller has no port.
beforeEach(Socket.prototype, 'write', (socket) => {
  return socket instanceof Socket && socket.remotePort !== undefined;
});

process.on('exit', () => {
  const file = process.env['COUNT_FILE'];
  if (file !== undefined) writeFileSync(file, String(count));
});
