// Prints what a daemon answers on its unix socket.
//   node fetch.mjs SOCKET PATH
import { request } from "node:http";

const [socketPath, path] = process.argv.slice(2);
request({ socketPath, path, headers: { Host: "localhost" } }, (answer) => {
  if (answer.statusCode !== 200) process.exitCode = 1;
  answer.pipe(process.stdout);
}).end();
