import type { Noted, ScimMemory } from '../../../../scim-memory.ts';

const mostUnwritten = 2000;

/**
 * Remembers a request until a job writes it to the database; no request waits for that. Requests
 * without a valid token, which strangers can send, are stored separately, so that they displace
 * none of a client's.
 */
export function noteRequest({ requests, rejected }: ScimMemory, noted: Noted): void {
  const alike = noted.status === 401 ? rejected : requests;
  alike.push({
    ...noted,
    method: noted.method.slice(0, 20),
    path: noted.path.slice(0, 300),
    // The reason can quote the client, and not every database can store such text.
    reason: noted.reason?.slice(0, 300).toWellFormed().replaceAll('\0', '\ufffd') ?? null,
  });
  if (alike.length > mostUnwritten) alike.shift();
}
