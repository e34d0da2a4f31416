import { isLoopback } from '../address.ts';

/**
 * The listen address for a plain-http base URL on this machine. Null for other URLs, and for ports
 * that only root may open, because a proxy answers there.
 */
export function listenFor(baseUrl: string): string | null {
  const { protocol, hostname, port } = new URL(baseUrl);
  if (protocol !== 'http:' || !isLoopback(hostname) || Number(port) < 1024) return null;
  return `${hostname === 'localhost' ? '127.0.0.1' : hostname}:${port}`;
}
