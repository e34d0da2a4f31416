import { isLoopback } from '../../../address.ts';
import type { Context } from '../../../context.ts';
import { refuseField } from '../../../errors.ts';

/**
 * Refuses settings that would send passwords in clear (security L5). The address itself is checked
 * when connecting.
 */
export function requireEncryption(ctx: Context, { uri, tls }: { uri: string; tls: boolean }): void {
  if (tls) return;
  if (uri.startsWith('ldaps:')) {
    throw refuseField(
      'tls',
      'is always on with ldaps://',
      'Leave it on, or use an ldap:// address.',
    );
  }
  if (ctx.config.ldap.allowPlaintext === 'on' || isLoopback(new URL(uri).hostname)) return;
  throw refuseField(
    'tls',
    'can be off only for a directory on this machine',
    'Use ldaps://, or StartTLS; or the operator sets ldap.allowPlaintext in idctl.yaml.',
  );
}
