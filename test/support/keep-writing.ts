import { setTimeout as pause } from 'node:timers/promises';
import { createClient } from './http.ts';

/** A write that was answered. */
export interface Written {
  daemon: number;
  table: 'access_tokens' | 'scim_records';
  status: number;
  /** Empty unless the write was acknowledged. */
  id: string;
  begun: number;
  ended: number;
}

/** Writes that continue until `stop`, and their answers. */
export interface Writing {
  entries: Written[];
  stop(): Promise<void>;
}

const [writers, restMs] = [3, 50];

/** Creates tokens and SCIM users through each of these daemons until `stop`. */
export function keepWriting(
  daemons: { url: string }[],
  { pat, scim, base }: { pat: string; scim: string; base: string },
): Writing {
  const entries: Written[] = [];
  const bodyOf = {
    access_tokens: (name: string) => ({ name }),
    scim_records: (name: string) => ({ userName: `${name}@elsewhere.test` }),
  };
  let [running, made] = [true, 0];
  const write = async (daemon: number, url: string, table: Written['table']) => {
    made += 1;
    const path =
      table === 'access_tokens' ? '/api/v1/me/tokens' : `${new URL(base).pathname}/Users`;
    const begun = Date.now();
    const { status, body } = await createClient(url).send('POST', path, {
      body: JSON.stringify(bodyOf[table](`user${made}`)),
      headers: {
        authorization: `Bearer ${table === 'access_tokens' ? pat : scim}`,
        'content-type': table === 'access_tokens' ? 'application/json' : 'application/scim+json',
      },
    });
    const id = status === 201 ? String(body.id) : '';
    entries.push({ daemon, table, status, id, begun, ended: Date.now() });
  };
  const writing = daemons.flatMap(({ url }, daemon) =>
    Array.from({ length: writers }, async () => {
      while (running) {
        for (const table of ['access_tokens', 'scim_records'] as const)
          await write(daemon, url, table);
        await pause(restMs);
      }
    }),
  );
  return {
    entries,
    async stop() {
      running = false;
      await Promise.all(writing);
    },
  };
}
