// These settings are read for every request, or can be rebuilt while requests run.
const reloadable = /^(outbound|mail|social|limits)\.|^log\.level$/;

/** Whether a reload applies the setting. All others need a restart. */
export function isReloadable(key: string): boolean {
  return reloadable.test(key);
}
