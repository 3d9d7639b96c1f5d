#!/bin/sh
# Makes archives of loaded classes: they halve what the compilers' and programs' starts cost.
set -eu

cd /tmp/warm
PATH=/opt/jvm-commands:$PATH
chmod 755 /opt/jvm-commands/*
ln -s /opt/jvm/bin/java /opt/jvm/bin/javac /opt/jvm-commands/
export JAVA_OPTS="-XX:+UseSerialGC -Xlog:disable"

# The runtime's own archive, for Java's compiler and for programs of any language.
javac -J-Xshare:off -J-XX:DumpLoadedClassList=javac.list -d java Warm.java
echo '1 2' | java -Xshare:off -XX:DumpLoadedClassList=program.list -cp java Warm
awk '!seen[$0]++' /opt/jvm/lib/classlist javac.list program.list >all.list
java -XX:+UseG1GC -Xshare:dump -XX:SharedClassListFile=all.list >dump.log 2>&1 || { cat dump.log; exit 1; }

# Those on top of it.
for compiler in kotlinc scalac; do
    sed s/-XX:SharedArchiveFile=/-XX:ArchiveClassesAtExit=/ "/opt/jvm-commands/$compiler" >$compiler
done
sh ./kotlinc Warm.kt -d kotlin.jar
mkdir scala
sh ./scalac -d scala Warm.scala
lib=/opt/kotlin
echo '1 2' | java -XX:ArchiveClassesAtExit=$lib/kotlin.jsa $JAVA_OPTS \
    "-Xbootclasspath/a:$lib/kotlin-stdlib.jar:$lib/kotlin-test.jar" Start.java kotlin.jar WarmKt
lib=/opt/scala
echo '1 2' | java -XX:ArchiveClassesAtExit=$lib/scala.jsa $JAVA_OPTS \
    -cp $lib/scala-library.jar Start.java scala/ Warm
