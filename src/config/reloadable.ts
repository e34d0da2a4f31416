// What is read anew for every request, or can be made anew while requests run.
const reloadable = /^(outbound|mail|social|limits)\.|^log\.level$/;

/** Whether a reload takes the setting over; the others need a restart. */
export function isReloadable(key: string): boolean {
  return reloadable.test(key);
}
