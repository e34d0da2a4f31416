import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** Ports of 127.0.0.1 that were free a moment ago, for programs that cannot choose one themselves. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map(portOf);
  await Promise.all(servers.map((server) => new Promise((closed) => server.close(closed))));
  return ports;
}

/** The port a listening TCP server got. */
export function portOf(server: { address(): AddressInfo | string | null }): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server does not listen on TCP');
  return address.port;
}
