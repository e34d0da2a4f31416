import type { Noted, ScimMemory } from '../../../../scim-memory.ts';

const mostUnwritten = 2000;

/**
 * Remembers a request until the clock writes it down; no request waits for that. Those without a right token, which
 * strangers can send, are remembered by themselves, so that they push out none of a client's.
 */
export function noteRequest({ requests, rejected }: ScimMemory, noted: Noted): void {
  const alike = noted.status === 401 ? rejected : requests;
  alike.push({
    ...noted,
    method: noted.method.slice(0, 20),
    path: noted.path.slice(0, 300),
    // It can quote the client, and not every database can hold that.
    reason: noted.reason?.slice(0, 300).toWellFormed().replaceAll('\0', '\ufffd') ?? null,
  });
  if (alike.length > mostUnwritten) alike.shift();
}
