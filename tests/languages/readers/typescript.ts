import * as fs from 'fs';
['a', 'b', 'c', 'd'].forEach((name: string, index: number) => {
  const number = Number(fs.readFileSync(`given/${name}`, 'utf8'));
  if (number !== index + 1) throw new Error(`${number}`);
  console.log(number);
});
